import{b as a,c as b,d as c}from"./chunk-B3TFMNVP.js";import"./chunk-ZGCMPX62.js";import"./chunk-6BBEJCZK.js";import"./chunk-NE45XAYW.js";export{a as Badge,c as FactList,b as LeaseDetails};
